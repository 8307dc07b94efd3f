import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct EnvironmentVariableTests {
    @Test("all variables are read, with the signs of equality in their values, and one can be removed")
    func all() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("UVFUTURES_A", "x=y", 1)
            unsafe setenv("UVFUTURES_B", "", 1)
            let (a, b) = (Array("UVFUTURES_A".utf8), Array("UVFUTURES_B".utf8))
            #expect(EnvironmentVariable.all[a] == Array("x=y".utf8))
            #expect(EnvironmentVariable.all[b] == [])
            // A value that is another's name.
            unsafe setenv("UVFUTURES_C", "UVFUTURES_A", 1)
            #expect(EnvironmentVariable.all[Array("UVFUTURES_C".utf8)] == a)
            EnvironmentVariable(name: "UVFUTURES_A").remove()
            #expect(EnvironmentVariable.all[a] == nil)
            #expect(EnvironmentVariable(name: "UVFUTURES_A").value == nil)
        }
    }
}

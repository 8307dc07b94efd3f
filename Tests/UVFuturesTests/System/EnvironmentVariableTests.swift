import Glibc
import Testing

@testable import UVFutures

struct EnvironmentVariableTests {
    @Test("all variables are read, with the signs of equality in their values, and one can be removed")
    func all() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("UVFUTURES_A", "x=y", 1)
            unsafe setenv("UVFUTURES_B", "", 1)
            #expect(EnvironmentVariable.all["UVFUTURES_A"] == "x=y")
            #expect(EnvironmentVariable.all["UVFUTURES_B"] == "")
            EnvironmentVariable(name: "UVFUTURES_A").remove()
            #expect(EnvironmentVariable.all["UVFUTURES_A"] == nil)
            #expect(EnvironmentVariable(name: "UVFUTURES_A").value == nil)
        }
    }
}

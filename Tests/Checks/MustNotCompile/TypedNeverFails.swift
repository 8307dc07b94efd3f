// expect: cannot convert value of type 'Refused' to expected argument type 'Never'
import UVFutures

struct Refused: Error {}

func fail(_ promise: TypedPromise<Int, Never>) {
    promise.fail(Refused())
}

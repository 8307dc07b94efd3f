// expect: thrown expression type 'Other' cannot be converted to error type 'Expected'
import UVFutures

struct Expected: Error {}
struct Other: Error {}

func change(_ future: TypedFuture<Int, Expected>) -> TypedFuture<Int, Expected> {
    future.map { (value) throws(Expected) in
        if value > 0 { throw Other() }
        return value
    }
}

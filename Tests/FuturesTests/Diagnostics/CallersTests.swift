#if DEBUG
    import FuturesTesting
    import Testing

    @testable import Futures

    struct CallersTests {
        @Test("the callers of what a callback makes end where the loop's turn begins")
        func bounded() throws {
            let loop = EventLoop.virtual()
            func counts() -> (within: Int, all: Int) {
                (Callers(on: loop.core).addresses.count, Callers().addresses.count)
            }
            let outside = counts()
            #expect(outside.within == outside.all)
            let inside = try loop.run(until: loop.submit { counts() })
            #expect(inside.within < inside.all && inside.within > 0)
        }
    }
#endif

import Futures
import Testing

struct SharedWorkTests {
    @Test("work that is cancelled by one who shares it is asked to cancel", arguments: Driver.allCases)
    func sharedWork(driver: Driver) throws {
        try withLoop(driver) { loop in
            let inner = loop.makePromise(of: Int.self)
            let flight = SingleFlight<Int>(on: loop)
            let cache = FutureCache<Int, Int>(on: loop)
            func refuse() -> Future<Int> { loop.failed(Failure()) }
            let performed = flight.perform {
                #expect(flight.perform(refuse).cancel())
                return inner.future
            }
            #expect("\(performed), \(inner.future)" == "Future(cancelled), Future(cancelled)")
            let other = loop.makePromise(of: Int.self)
            let found = cache.findOrFetch(1) {
                #expect(cache.findOrFetch(1, refuse).cancel())
                return other.future
            }
            #expect("\(found), \(other.future)" == "Future(cancelled), Future(cancelled)")
        }
    }
}

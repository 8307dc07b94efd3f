// What Sources/Micro measures, on SwiftNIO: figures of the same names.
//
// Usage: NIOMicro FIGURE COUNT; without arguments it prints the figures' names.

import Figures
import NIOCore
import NIOPosix

let micro = NIOMicro(loop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next())
try measure([
    Figure("promise", micro.promise),
    Figure("map-pending", micro.mapPending),
    Figure("map-completed", micro.mapCompleted),
    Figure("flatMap-pending", micro.flatMapPending),
    Figure("flatMap-completed", micro.flatMapCompleted),
    Figure("group") { try micro.group($0, size: 1000) },
    Figure("timer-cancel", micro.timerCancel),
    Figure("timer-replace", micro.timerReplace),
    Figure("timer-fire") { try micro.timerFire($0, size: 100_000) },
    Figure("submit", micro.submit),
    Figure("submit-8-threads", micro.submitFromEight),
    Figure("submit-bursts", micro.submitBursts),
    Figure("await-completed", micro.awaitCompleted),
    Figure("await-pending", micro.awaitPending),
    Figure("await-completed-outside", micro.awaitCompletedOutside),
    Figure("await-pending-outside", micro.awaitPendingOutside),
    // One of COUNT elements.
    Figure("one-group") { try micro.group($0, size: $0) },
    Figure("one-timer-heap") { try micro.timerFire($0, size: $0) },
    Figure("one-listener-list", micro.listeners),
])

// What one operation costs on the loop's thread, in a turn, as in a program. Most figures have a counterpart of the
// same name in Peers/SwiftNIO/Sources/NIOMicro, and where that makes sense in Peers/Node/micro.js and Peers/C/micro.c.
//
// Usage: Micro FIGURE COUNT; without arguments it prints the figures' names.

import Figures
import UVFutures

let micro = Micro(loop: try EventLoop())
try measure([
    Figure("promise", micro.promise),
    Figure("map-pending", micro.mapPending),
    Figure("map-completed", micro.mapCompleted),
    Figure("map-carrying-none", micro.mapCarryingNone),
    Figure("map-carrying-value", micro.mapCarryingValue),
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
    Figure("ticks", micro.ticks),
    Figure("completion-order") { try micro.completionOrder($0, size: 1000) },
    Figure("connections", micro.connections),
    Figure("simulated-messages", micro.simulatedMessages),
    Figure("simulated-connections", micro.simulatedConnections),
    Figure("simulated-datagrams", micro.simulatedDatagrams),
    Figure("simulated-files", micro.simulatedFiles),
    // One of COUNT elements.
    Figure("one-group") { try micro.group($0, size: $0) },
    Figure("one-timer-heap") { try micro.timerFire($0, size: $0) },
    Figure("one-listener-list", micro.listeners),
])

/// Keeps the queue for the next stream of the loop that gathers. Two streams rarely gather in one turn.
final class SpareQueue {
    var queue: OutboundQueue?
}

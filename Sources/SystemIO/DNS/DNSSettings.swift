internal import Futures

/// The options that the user of a resolver has chosen.
struct DNSSettings {
    var servers: [SocketAddress]?
    var maxConcurrent = 256
    var maxCached = 1000
    var maxTimeToLive = Duration.seconds(86_400)
    var maxNegativeTimeToLive = Duration.seconds(900)
    var randomizesCase = false
    var transport = DNSTransport.sockets

    func check() throws(FutureError) {
        try requireArgument(
            !(servers?.isEmpty ?? false), "the list of name servers is empty; give at least one, or nil")
        if let server = servers?.first(where: { $0.port == 0 || $0.isUnix }) {
            throw .invalidArgument(
                "\(server) is not a name server; give an IP address and a port, usually 53")
        }
        try requireArgument(
            maxConcurrent > 0, "a limit of \(maxConcurrent) queries at a time is out of range; give 1 or more"
        )
        try requireArgument(maxCached >= 0, "a limit of \(maxCached) answers is out of range; give 0 or more")
        for limit in [maxTimeToLive, maxNegativeTimeToLive] {
            try requireArgument(limit >= .zero, "a time to live of \(limit) is negative; give zero or more")
        }
    }
}

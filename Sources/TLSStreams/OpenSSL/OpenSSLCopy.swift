internal import CFuturesTLS

/// The copy of OpenSSL that this process uses.
struct OpenSSLCopy {
    /// Found once, since it cannot change: libraries that are loaded later come after it.
    static let outcome = Result<OpenSSLCopy, OpenSSLMismatch> { () throws(OpenSSLMismatch) in
        try OpenSSLCopy()
    }

    let tls: String
    let crypto: String
    let version: String

    /// Throws an error if the functions come from several copies, or from another library.
    private init() throws(OpenSSLMismatch) {
        let found = unsafe tls_find_copy()
        let number = unsafe found.version
        try self.init(
            tls: unsafe String(cString: found.tls), crypto: unsafe String(cString: found.crypto),
            version: "\(number >> 28).\(number >> 20 & 0xFF).\(number >> 4 & 0xFF)",
            stray: unsafe found.stray.map {
                unsafe "\(String(cString: $0)) from \(String(cString: found.stray_path))"
            })
    }

    init(tls: String, crypto: String, version: String, stray: String?) throws(OpenSSLMismatch) {
        (self.tls, self.crypto, self.version) = (tls, crypto, version)
        // Either one file has both, or they are the two libraries of one folder.
        func parts(_ path: String) -> (folder: Substring, name: Substring) {
            let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            return (path[..<start], path[start...])
        }
        let (tlsParts, cryptoParts) = (parts(tls), parts(crypto))
        let isPair =
            tlsParts.folder == cryptoParts.folder && tlsParts.name.hasPrefix("libssl")
            && cryptoParts.name.hasPrefix("libcrypto")
        guard stray == nil, tls == crypto || isPair, version.hasPrefix("3.") else {
            throw OpenSSLMismatch(tls: tls, crypto: crypto, version: version, stray: stray)
        }
    }
}

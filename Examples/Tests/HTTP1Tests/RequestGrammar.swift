/// Makes requests, right and wrong, with the spellings about which parsers have disagreed: in the form of `Corpus/corpus.txt`.
struct RequestGrammar {
    var random: SplitMix

    mutating func requests() -> String {
        var text = request()
        while oneIn(4) { text += request() }
        return text
    }

    private mutating func request() -> String {
        let method = often(
            "POST", ["GET", "HEAD", "OPTIONS", "CONNECT", "BREW", "post", "P\\0ST", "P(ST", ""])
        let target = often(
            "/a",
            [
                "/", "/a?b", "/a#b", "/\\x80", "/\\x7f", "/\\0", "*", "a", "a:1", "http://a/b", "http://a b/",
                "ftp://a/", "//", "?a", "",
            ])
        let version = often(
            "HTTP/1.1",
            [
                "HTTP/1.0", "HTTP/1.2", "HTTP/1.9", "HTTP/1.10", "HTTP/2.0", "HTTP/0.9", "HTTP/1", "HTTP/11",
                "http/1.1", "HTTP/1.1 ", "HTP/1.1", "",
            ])
        var text = method + space() + target + space() + version + end()
        var fields = [often("Host: a", ["Host: a:8", "Host:", "Host: a b", "Host: a/b", "Host : a", "X: a"])]
        for _ in 0..<Int.random(in: 0...2, using: &random) { fields.append(field()) }
        let body: String
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            fields.append(lengthField())
            body = often("hello", ["", "hell", "helloo"])
        case 2, 3:
            fields.append(codingField())
            body = chunks()
        default:
            fields += oneIn(2) ? [lengthField(), codingField()] : []
            body = oneIn(2) ? chunks() : ""
        }
        fields.shuffle(using: &random)
        for field in fields { text += field + end() }
        return text + end() + body
    }

    private mutating func field() -> String {
        oneIn(2)
            ? [
                "X: a", "X:a", "X: ", "X: \\x80\\xff", "Connection: close", "Connection: keep-alive, x",
                "Connection: Upgrade", "Upgrade: x", "Expect: 100-continue", "Cookie: a=b; c",
            ].randomElement(using: &random)!
            : often(
                "Accept: */*",
                [
                    "X : a", "X", ": a", " X: a", "\\tX: a", "X: a\\0b", "X: a\\rb", "X: a\\x7f", "X@: a",
                    "X\\x80: a", "X: a\\r\\n b", "Expect: x", "Host: b",
                ])
    }

    private mutating func lengthField() -> String {
        let name = often(
            "Content-Length",
            ["content-length", "CONTENT-LENGTH", "Content-Length ", "Content_Length", "Content-Length\\0"])
        let value = often(
            " 5",
            [
                "5", " 5 ", " \\t5", " 05", " +5", " -5", " 5, 5", " 5,6", " 0x5", " 5a", "", " 0", " 5 5",
                " \\x0b5",
                " 5\\r\\nContent-Length: 5", " 5\\r\\nContent-Length: 6", " 5\\r\\n 5",
                " 18446744073709551621",
            ])
        return name + ":" + value
    }

    private mutating func codingField() -> String {
        let name = often(
            "Transfer-Encoding",
            ["transfer-encoding", "Transfer-Encoding ", "Transfer_Encoding", "Transfer\\0Encoding"])
        let value = often(
            " chunked",
            [
                "chunked", " Chunked", " chunked ", "\\tchunked", " chunked, chunked", " identity",
                " gzip, chunked",
                " chunked, gzip", " xchunked", " chunked;q=1", " \"chunked\"", " chunked,", " ,chunked", "",
                " \\x0bchunked", " chunk\\0ed", " chunked\\r\\nTransfer-Encoding: chunked", "\\r\\n chunked",
                " chunked\\r\\nTransfer-Encoding: identity",
            ])
        return name + ":" + value
    }

    private mutating func chunks() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let size = often(
                "5",
                [
                    "05", "6", "4", "+5", "-5", "0x5", " 5", "5 ", "5\\t", "g", "", "100000005",
                    "fffffffffffffffff",
                ])
            let behind = often(
                "", [";a", ";a=b", ";a=\"b;c\"", ";", ";=a", "; a", ";a=\"b", ";\\0", ";\\xff", ",a"])
            text += size + behind + end() + "hello" + end()
        }
        text += often("0", ["00", "0;a", "-0", "0 ", "0x0", "a", ""]) + end()
        while oneIn(4) { text += oneIn(4) ? lengthField() + end() : field() + end() }
        return text + end()
    }

    private mutating func space() -> String { seldom(" ", ["  ", "\\t", "", "\\x0b", " \\t", "\\r"]) }

    private mutating func end() -> String {
        seldom("\\r\\n", ["\\n", "\\r", "\\r\\r\\n", "\\n\\r", "", "\\0\\r\\n", " \\r\\n"])
    }

    private mutating func often(_ usual: String, _ others: [String]) -> String {
        oneIn(12) ? others.randomElement(using: &random)! : usual
    }

    private mutating func seldom(_ usual: String, _ others: [String]) -> String {
        oneIn(60) ? others.randomElement(using: &random)! : usual
    }

    private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
}

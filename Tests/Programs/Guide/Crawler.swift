// Crawls a small site of fake pages, three at a time, each page once, and prints the order and the count.
import UVFutures

struct Page {
    let links: [String]
    let delay: Duration
}

struct NotFound: Error {}
final class Crawler {
    private let loop: EventLoop
    private let site: [String: Page]
    let queue: FutureQueue<Void>
    private var seen: Set<String> = []
    private(set) var mostRunning = 0
    private(set) var order: [String] = []
    private(set) var missing: [String] = []

    init(site: [String: Page], on loop: EventLoop) {
        self.loop = loop
        self.site = site
        queue = FutureQueue(maxConcurrent: 3, on: loop)
    }

    func visit(_ path: String) {
        guard seen.insert(path).inserted else { return }
        queue.enqueue {
            self.mostRunning = max(self.mostRunning, self.queue.runningCount)
            return self.fetch(path)
                .tap { links in
                    self.order.append(path)
                    for link in links { self.visit(link) }
                }
                .tapError { _ in self.missing.append(path) }
                .notBefore(.milliseconds(10))
        }
        .ignoreFailure()
    }

    private func fetch(_ path: String) -> Future<[String]> {
        guard let page = site[path] else {
            return loop.completed(.failure(NotFound()), after: .milliseconds(5))
        }
        return loop.succeeded(page.links, after: page.delay)
    }
}

let site = [
    "/": Page(links: ["/a", "/b", "/c", "/a"], delay: .milliseconds(5)),
    "/a": Page(links: ["/a/1", "/a/2", "/"], delay: .milliseconds(30)),
    "/b": Page(links: ["/gone", "/c"], delay: .milliseconds(60)),
    "/c": Page(links: ["/a/1"], delay: .milliseconds(90)),
    "/a/1": Page(links: [], delay: .milliseconds(90)),
    "/a/2": Page(links: ["/"], delay: .milliseconds(90)),
]
let loop = EventLoop.main
let crawler = Crawler(site: site, on: loop)
crawler.visit("/")
try loop.run(until: crawler.queue.whenEmpty())
print("\(crawler.order.count) pages: \(crawler.order.joined(separator: " "))")
print("missing: \(crawler.missing.joined(separator: " "))")
print("at most \(crawler.mostRunning) at once")

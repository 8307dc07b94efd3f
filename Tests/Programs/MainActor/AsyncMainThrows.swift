import UVFutures

struct Failure: Error {}

@main struct Program {
    static func main() async {
        do {
            try EventLoop.runMain { loop in
                await Task.yield()
                throw Failure()
            }
        } catch {
            print("threw \(error)")
        }
        do {
            let answer = try EventLoop.runMain { loop in try await loop.submit { 42 }.value }
            print(answer)
        } catch {
            print(error)
        }
    }
}

import TestSupport
import Testing

@testable import Futures

struct LineTests {
    private final class Member: LineMember {
        let number: Int
        var place: Int?

        init(_ number: Int) { self.number = number }
    }

    @Test("a line does what an array does", arguments: SeededGenerator.seeds(5))
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var line = Line<Member>()
        var model: [Member] = []
        for number in 0..<5_000 {
            switch generator.below(number / 1_000 % 2 == 0 ? 10 : 20) {
            case 0..<6:
                let member = Member(number)
                line.append(member)
                model.append(member)
            case 6..<8:
                let member = line.takeFirst()
                #expect(member === model.first)
                if member != nil { model.removeFirst() }
            case 19 where number % 10 == 0:
                let all = line.takeAll()
                #expect(all.map(\.number) == model.map(\.number))
                model = []
            default:
                guard !model.isEmpty else { continue }
                let member = model.remove(at: generator.below(model.count))
                line.remove(member)
                line.remove(member)
                #expect(member.place == nil)
            }
            #expect(line.count == model.count && line.first === model.first)
        }
    }

    @Test("who leaves from behind one that stays leaves no place behind")
    func gaps() {
        var line = Line<Member>()
        let first = Member(0)
        line.append(first)
        for number in 1..<1_000 {
            let member = Member(number)
            line.append(member)
            line.remove(member)
        }
        let last = Member(1_000)
        line.append(last)
        #expect(last.place! < 50)
        let (one, other) = (line.takeFirst(), line.takeFirst())
        #expect(one === first && other === last && line.isEmpty)
    }
}

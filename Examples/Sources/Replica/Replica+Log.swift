import UVFutures

extension Replica {
    // MARK: - As the leader

    /// Puts an entry into the log, and has the others store it.
    func propose(_ entry: Entry) {
        saved.log.append(entry)
        let (count, term) = (saved.log.count, saved.term)
        save().whenSuccess { [self] in
            guard role == .leader, saved.term == term else { return }
            storedCount = max(storedCount, count)
            if mistake == .answersBeforeMajority { committedCount = max(committedCount, count) }
            commit()
        }
        replicate()
    }

    func replicate() {
        for other in others { bringUpToDate(other) }
    }

    /// Sends what another replica lacks. Completes with whether it follows this one.
    @discardableResult
    func bringUpToDate(_ other: Other) -> Future<Bool> {
        let (term, first) = (saved.term, other.nextCount)
        let entries = saved.log[first...]
        let previousTerm = first == 0 ? 0 : saved.log[first - 1].term
        let head = "append \(term) \(id) \(first) \(previousTerm) \(committedCount)"
        let answer = other.peer.ask(head + entries.map { " \($0)" }.joined()).map { [self] answer in
            let words = answer.split(separator: " ")
            guard words.count == 4, words[0] == "appended", let answered = Int(words[1]),
                let count = Int(words[3])
            else { return false }
            if answered > saved.term { follow(in: answered) }
            guard role == .leader, saved.term == term else { return false }
            if words[2] == "yes" {
                let match = mistake == .matchesAtReplyTime ? saved.log.count : first + entries.count
                other.matchingCount = max(other.matchingCount, match)
                other.nextCount = max(other.nextCount, match)
                commit()
            } else if mistake != .neverStepsBack {
                other.nextCount = max(other.matchingCount, min(other.nextCount - 1, count))
            }
            return true
        }
        answer.ignoreFailure()
        return answer
    }

    /// Commits what most replicas have stored, if it is of this term: only then nobody else can be elected who
    /// lacks it.
    private func commit() {
        let counts = ([storedCount] + others.map(\.matchingCount)).sorted(by: >)
        let count = counts[members.count / 2]
        if count > committedCount, saved.log[count - 1].term == saved.term { committedCount = count }
        apply()
    }

    // MARK: - As a follower

    /// Takes entries of a leader, behind the first `count` ones, if these are the same here.
    func append(
        _ entries: [Entry], after count: Int, previousTerm: Int, of leader: Int, in term: Int, committed: Int
    ) -> Future<String> {
        guard term >= saved.term || mistake == .obeysOldLeaders else {
            return loop.succeeded("appended \(saved.term) no \(saved.log.count)")
        }
        if term > saved.term || role != .follower { follow(in: term) }
        self.leader = leader
        waitForLeader()
        let isKnown =
            count == 0 || mistake == .trustsPrevious
            || count <= saved.log.count && saved.log[count - 1].term == previousTerm
        guard isKnown, count <= saved.log.count else {
            return loop.succeeded("appended \(term) no \(min(saved.log.count, max(0, count - 1)))")
        }
        take(entries, after: count)
        committedCount = max(committedCount, min(committed, count + entries.count))
        apply()
        let answer = "appended \(term) yes \(count + entries.count)"
        if mistake == .storesLate {
            loop.schedule(after: .seconds(1)) { [self] in save() }
            return loop.succeeded(answer)
        }
        let stored = saved.log.count
        return save().map { [self] in
            storedCount = min(stored, saved.log.count)
            return answer
        }
    }

    /// From the first entry on that differs, the leader's log replaces this one.
    private func take(_ entries: [Entry], after count: Int) {
        for (index, entry) in zip(count..., entries) {
            if index < saved.log.count, saved.log[index].term != entry.term, mistake != .keepsConflicts {
                saved.log.removeSubrange(index...)
                storedCount = min(storedCount, index)
            }
            if index >= saved.log.count { saved.log.append(entry) }
        }
    }

    /// Makes the changes that are committed, and answers their clients.
    private func apply() {
        while appliedCount < min(committedCount, saved.log.count) {
            let entry = saved.log[appliedCount]
            appliedCount += 1
            let sum = counter.apply(entry, mistake: mistake)
            while let client = waiting.first, client.count <= appliedCount {
                waiting.removeFirst()
                let isItsOwn = client.count == appliedCount && client.term == entry.term
                client.answer.succeed(isItsOwn || mistake == .answersByIndex ? "sum \(sum)" : "retry")
            }
        }
    }
}

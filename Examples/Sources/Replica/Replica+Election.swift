import UVFutures

extension Replica {
    private static let shortestPatience = 300
    private static let heartbeat = Duration.milliseconds(100)

    /// Becomes a candidate when nothing has been heard of a leader for a while.
    func waitForLeader() {
        if mistake != .keepsOldTimers { electionTimer?.cancel() }
        let patience = Int.random(
            in: Self.shortestPatience...(2 * Self.shortestPatience), using: &loop.random)
        electionTimer = loop.schedule(after: .milliseconds(patience)) { [self] in
            waitForLeader()
            if role != .leader { standForElection() }
        }
    }

    private func standForElection() {
        (role, leader) = (.candidate, nil)
        saved.term += 1
        saved.vote = id
        votes = mistake == .countsOldVotes ? votes + 1 : 1
        let term = saved.term
        let request = "vote \(term) \(id) \(saved.log.count) \(saved.log.last?.term ?? 0)"
        save().whenSuccess { [self] in
            guard role == .candidate, saved.term == term else { return }
            if votes >= majority { return lead() }
            for other in others {
                other.peer.ask(request).tap { [self] in counted($0, in: term) }.ignoreFailure()
            }
        }
    }

    private func counted(_ answer: String, in term: Int) {
        let words = answer.split(separator: " ")
        guard words.count == 3, words[0] == "voted", let answered = Int(words[1]) else { return }
        if mistake != .countsRefusals, answered > saved.term { return follow(in: answered) }
        guard role == .candidate, saved.term == term else { return }
        guard words[2] == "yes" || mistake == .countsRefusals else { return }
        votes += 1
        if votes >= majority { lead() }
    }

    /// Answers a candidate. A replica votes once in a term, and for nobody who lacks what may be committed.
    func vote(for candidate: Int, in term: Int, holding count: Int, lastTerm: Int) -> Future<String> {
        if term > saved.term { follow(in: term) }
        let isFree = saved.vote == nil || saved.vote == candidate || mistake == .votesTwice
        let isComplete = (lastTerm, count) >= (saved.log.last?.term ?? 0, saved.log.count)
        guard term == saved.term, isFree, isComplete || mistake == .votesForShorterLogs else {
            return loop.succeeded("voted \(saved.term) no")
        }
        saved.vote = candidate
        waitForLeader()
        return save().map { "voted \(term) yes" }
    }

    private func lead() {
        (role, leader) = (.leader, id)
        let term = saved.term
        for other in others { (other.nextCount, other.matchingCount) = (saved.log.count, 0) }
        propose(Entry(term: term, client: 0, number: 0, amount: 0))
        let task = loop.repeat(every: Self.heartbeat) { [self] in
            guard role == .leader, saved.term == term else { throw CancellationError() }
            replicate()
        }
        task.future.ignoreFailure()
    }

    /// Follows whoever leads in `term`.
    func follow(in term: Int) {
        if term > saved.term { (saved.term, saved.vote) = (term, nil) }
        (role, leader) = (.follower, nil)
        guard mistake != .answersByIndex else { return }
        for client in waiting { client.answer.succeed("retry") }
        waiting = []
    }
}

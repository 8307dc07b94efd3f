import ArgumentParser

/// A mistake that can be switched on, to see whether the tests find it.
enum Mistake: String, CaseIterable, ExpressibleByArgument {
    // Elections.
    case votesTwice
    case forgetsTerms
    case countsOldVotes
    case countsRefusals
    case countsOnlyTheReachable
    case votesForShorterLogs
    case keepsOldTimers

    // The log.
    case obeysOldLeaders
    case trustsPrevious
    case keepsConflicts
    case matchesAtReplyTime
    case neverStepsBack
    case storesLate

    // Clients.
    case answersBeforeMajority
    case answersByIndex
    case appliesRetries
    case renumbersRetries
    case readsUnconfirmed
    case readsBeforeCommit

    // Connections.
    case matchesRepliesInOrder
    case keepsDeadConnections
}

/// Leaves out steps of a program, as long as there is a difference. Returns the steps that are left, and the difference.
func shrunk<Step>(
    _ steps: [Step], _ difference: ([Step]) throws -> String?
) rethrows -> (steps: [Step], difference: String) {
    var (shortest, text) = (steps, "")
    var index = steps.count
    while index > 0 {
        index -= 1
        var shorter = shortest
        shorter.remove(at: index)
        if let found = try difference(shorter) { (shortest, text) = (shorter, found) }
    }
    return (shortest, text.isEmpty ? try difference(steps) ?? "" : text)
}

/// A time of day in the format of HTTP, such as `Wed, 25 Nov 2026 09:33:28 GMT`: whole seconds.
public struct HTTPDate: Hashable, Comparable, Sendable {
    /// The seconds since the beginning of 1970, in UTC.
    public let seconds: Int

    public init(seconds: Int) { self.seconds = seconds }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a date in the format that is sent today. `nil` for all others: then the field is to be ignored.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, parts[5] == "GMT",
            let month = Self.months.firstIndex(of: String(parts[2])),
            let day = Self.number(parts[1], 1...31), let year = Self.number(parts[3], 1970...9999)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = Self.number(time[0], 0...23),
            let minute = Self.number(time[1], 0...59), let second = Self.number(time[2], 0...60)
        else { return nil }
        self.init(
            seconds: Self.dayNumber(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ decimalValue($0) != nil }), let number = Int(text) else { return nil }
        return range.contains(number) ? number : nil
    }

    /// The number of a day of the Gregorian calendar, counted from the beginning of 1970.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March: so the day that is added every fourth year is the last.
        let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        return year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469
    }

    /// Returns the year, the month and the day of a day's number.
    private static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        let number = number + 719_468
        let era = (number >= 0 ? number : number - 146_096) / 146_097
        let dayOfEra = number - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    public static func < (one: HTTPDate, other: HTTPDate) -> Bool { one.seconds < other.seconds }
}

extension HTTPDate: CustomStringConvertible {
    public var description: String {
        let dayNumber = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let second = seconds - dayNumber * 86_400
        let (year, month, day) = Self.date(ofDay: dayNumber)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let weekday = Self.days[((dayNumber % 7) + 7) % 7]
        let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(weekday), \(two(day)) \(Self.months[month - 1]) \(year) \(time) GMT"
    }
}

extension String {
    /// The text without characters that change how the lines of others look: marks of direction and other formats, and marks
    /// that pile up over one character. The separators of lines and paragraphs become spaces.
    ///
    /// What joins letters and makes one emoji of several is kept. Control characters are kept, too.
    var withoutFormats: String {
        var text = String.UnicodeScalarView()
        var markCount = 0
        for scalar in unicodeScalars {
            let category = scalar.properties.generalCategory
            let isMark = category == .nonspacingMark || category == .enclosingMark
            markCount = isMark ? markCount + 1 : 0
            switch category {
            case .lineSeparator, .paragraphSeparator: text.append(" ")
            case .format where !scalar.isKeptFormat: break
            default: if markCount <= Self.mostMarks { text.append(scalar) }
            }
        }
        return String(text)
    }

    /// The number of marks over one character that scripts make use of (Unicode Technical Standard 39, 5.4).
    private static var mostMarks: Int { 4 }
}

extension Unicode.Scalar {
    /// Joiners, the letters of flags, and the signs of some scripts, such as the Arabic sign of a year, which are visible.
    fileprivate var isKeptFormat: Bool {
        switch value {
        case 0x200C, 0x200D, 0xE0020...0xE007F: true
        case 0xFFF9...0xFFFB: false
        default: !properties.isDefaultIgnorableCodePoint
        }
    }
}

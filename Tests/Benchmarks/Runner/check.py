#!/usr/bin/env -S python3 -B
"""Checks the statistics, the verdicts and the format, on samples whose answer is known."""

import json
import random
import tempfile
import unittest

import ratios
import samples
import targets


def rounds(values):
    return dict(enumerate(values, 1))


class Estimates(unittest.TestCase):
    def test_median_and_interval_hold_what_was_drawn(self):
        draw = random.Random(7)
        hits = 0
        for _ in range(60):
            found = ratios.estimate([draw.gauss(1, 0.1) for _ in range(21)])
            self.assertLessEqual(found.low, found.value)
            self.assertLessEqual(found.value, found.high)
            hits += found.low <= 1 <= found.high
        self.assertGreaterEqual(hits, 51)
        self.assertLess(hits, 60, "the interval is wider than it says")

    def test_interval_narrows_with_the_rounds(self):
        draw = random.Random(7)
        few, many = ([draw.gauss(1, 0.1) for _ in range(n)] for n in (9, 200))
        self.assertLess(ratios.estimate(many).width, ratios.estimate(few).width / 2)

    def test_equal_values_leave_no_doubt(self):
        found = ratios.estimate([3.0] * 5)
        self.assertEqual((found.value, found.low, found.high), (3, 3, 3))

    def test_even_number_has_the_mean_of_both_middles(self):
        self.assertEqual(ratios.estimate([1, 2, 4, 100]).value, 3)

    def test_pairs_are_of_one_round(self):
        # What drifts for both cancels; the third round has only one of them.
        found = ratios.ratio({1: 110, 2: 220, 4: 440}, {1: 100, 2: 200, 3: 1, 4: 400})
        self.assertEqual((found.value, found.low, found.high, found.rounds), (1.1, 1.1, 1.1, 3))
        self.assertEqual(ratios.difference({1: 5, 2: 7}, {1: 3, 2: 5}).value, 2)
        self.assertIsNone(ratios.ratio({1: 1}, {2: 1}))


class Verdicts(unittest.TestCase):
    def verdict(self, limit, ours, theirs=None):
        target = targets.parse(f"CPU | few | ours | {limit}")
        return target.judge({"few": {"ours": ours, "C": theirs or rounds([100] * 5)}})[1]

    def test_factor(self):
        self.assertEqual(self.verdict("1.05 × C", rounds([107] * 5)), "met")
        self.assertEqual(self.verdict("1.05 × C", rounds([109] * 5)), "not met")

    def test_too_wide_or_too_few_says_nothing(self):
        for ours in ([90, 95, 100, 105, 110], [100] * 4, [200] * 4):
            self.assertIn("nothing", self.verdict("1.05 × C", rounds(ours)))

    def test_wide_but_above_is_not_met(self):
        self.assertEqual(self.verdict("1.05 × C", rounds([140, 150, 160, 170, 180])), "not met")

    def test_wide_but_below_is_met(self):
        self.assertEqual(self.verdict("1.05 × C", rounds([60, 70, 80, 90, 100])), "met")

    def test_exact_figure_needs_no_rounds(self):
        self.assertEqual(self.verdict("800", {0: 800}), "met")
        self.assertEqual(self.verdict("800", {0: 801}), "not met")

    def test_so_much_more(self):
        self.assertEqual(self.verdict("+ 10 C", rounds([110] * 5)), "met")
        self.assertEqual(self.verdict("+ 10 C", rounds([111] * 5)), "not met")

    def test_committed_targets_can_be_read(self):
        self.assertTrue(targets.read())
        with self.assertRaises((ValueError, TypeError)):
            targets.parse("CPU | few | ours | fast")


class Format(unittest.TestCase):
    def test_what_is_appended_is_read(self):
        with tempfile.NamedTemporaryFile() as file:
            samples.append(file.name, {"about": {"command": "a", "versions": {"x": "1"}}})
            samples.append(file.name, {"figure": "few", "peer": "C", "round": 1, "value": 2.5, "unit": "ns"})
            samples.append(file.name, {"about": {"command": "b", "versions": {"y": "2"}}})
            samples.append(file.name, {"about": {"command": "a"}})
            read = samples.read([file.name])
        self.assertEqual(read.about, {"command": "a; b", "versions": {"x": "1", "y": "2"}})
        self.assertEqual(read.tables, {"": {"few": {"C": {1: 2.5}}}})
        self.assertEqual(read.units, {("", "few"): "ns"})

    def test_rounds_go_on_after_the_last(self):
        self.assertEqual(samples.last_round("/nowhere/at/all"), 0)
        with tempfile.NamedTemporaryFile() as file:
            self.assertEqual(samples.last_round(file.name), 0)
            samples.append(file.name, {"about": {"command": "a"}})
            samples.append(file.name, {"figure": "few", "peer": "C", "round": 7, "value": 1})
            samples.append(file.name, {"figure": "few", "peer": "C", "round": 0, "value": 1})
            self.assertEqual(samples.last_round(file.name), 7)

    def test_other_lines_are_refused_by_number(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(json.dumps({"figure": "few", "peer": "C", "round": 1}))
            file.flush()
            with self.assertRaisesRegex(SystemExit, ":1: a sample without a value"):
                samples.read([file.name])


unittest.main()

/**
 * Loaded into a process before everything else, it sets the process's time of day off by
 * `CLOCK_SHIFT_MS`, as a wrong clock of its machine would. What measures durations runs on.
 */
const shiftMs = Number(process.env['CLOCK_SHIFT_MS'])
const { Date: OriginalDate, performance } = globalThis

class ShiftedDate extends OriginalDate {
  constructor(...given: [] | [number | string | Date]) {
    super(given.length === 0 ? OriginalDate.now() + shiftMs : given[0])
  }

  static override now(): number {
    return OriginalDate.now() + shiftMs
  }
}

Object.defineProperty(globalThis, 'Date', { value: ShiftedDate })
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + shiftMs })

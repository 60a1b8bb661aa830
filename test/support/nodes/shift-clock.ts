/**
 * Is loaded into a process before all other modules. It shifts the process's time of day by
 * `CLOCK_SHIFT_MS`, like a wrong clock of its machine. Clocks that measure durations are unchanged.
 */
const shiftMs = Number(process.env['CLOCK_SHIFT_MS'])
const { Date: OriginalDate, performance } = globalThis

class ShiftedDate extends OriginalDate {
  constructor(...args: [] | [number | string | Date]) {
    super(args.length === 0 ? OriginalDate.now() + shiftMs : args[0])
  }

  static override now(): number {
    return OriginalDate.now() + shiftMs
  }
}

Object.defineProperty(globalThis, 'Date', { value: ShiftedDate })
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + shiftMs })

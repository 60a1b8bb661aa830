import { Session, type Profiler } from 'node:inspector'

/** The code of the service that was executed, by V8's precise coverage of blocks. */
export type Coverage = {
  /** Adds what was executed since the last call. @returns the number of new characters. */
  readonly take: () => number
  /** Returns a copy of the state, and restores it. */
  readonly save: () => CoverageState
  readonly restore: (state: CoverageState) => void
  /** Characters of source code that were executed. */
  readonly size: () => number
}

type CoverageState = ReadonlyMap<string, Uint8Array>

/** @param isMeasured selects the scripts by their URL. */
export function startCoverage(isMeasured: (url: string) => boolean): Coverage {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  let executed = new Map<string, Uint8Array>()
  return {
    take: () => {
      let added = 0
      // The session is in the same thread: the callback runs before `post` returns.
      session.post('Profiler.takePreciseCoverage', (error, { result }) => {
        if (error) throw error
        for (const script of result)
          if (isMeasured(script.url)) added += addScript(executed, script)
      })
      return added
    },
    save: () => new Map([...executed].map(([url, map]) => [url, Uint8Array.from(map)])),
    restore: (state) => {
      executed = new Map([...state].map(([url, map]) => [url, Uint8Array.from(map)]))
    },
    size: () =>
      [...executed.values()].reduce((sum, map) => sum + map.reduce((a, flag) => a + flag, 0), 0),
  }
}

/** Marks the executed characters of a script. Inner ranges follow outer ranges and override them. */
function addScript(executed: Map<string, Uint8Array>, script: Profiler.ScriptCoverage): number {
  const ranges = script.functions.flatMap((each) => each.ranges)
  const length = Math.max(0, ...ranges.map(({ endOffset }) => endOffset))
  const now = new Uint8Array(length)
  for (const { startOffset, endOffset, count } of ranges)
    now.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  const known = grown(executed.get(script.url) ?? new Uint8Array(), length)
  executed.set(script.url, known)
  let added = 0
  for (let offset = 0; offset < length; offset++)
    if (now[offset] === 1 && known[offset] !== 1) {
      known[offset] = 1
      added++
    }
  return added
}

function grown(map: Uint8Array, length: number): Uint8Array {
  if (map.length >= length) return map
  const larger = new Uint8Array(length)
  larger.set(map)
  return larger
}

import { pino } from 'pino'

export type Log = pino.Logger

/**
 * JSON lines on standard error. Fields are chosen one by one by whoever logs; images, embeddings,
 * whole keys and request bodies never are. pino escapes control characters, so no caller's text
 * can forge a line.
 */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}

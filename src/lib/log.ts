import { pino } from 'pino'
import { callLogFields } from './observability/call-trace.ts'

export type Log = pino.Logger

/**
 * JSON lines, on standard error unless told otherwise. Fields are chosen one by one by whoever logs;
 * images, embeddings, whole keys and request bodies never are. pino escapes control characters, so
 * no caller's text can forge a line. A line that is written in the course of a call says which.
 */
export function createLog(
  level: string,
  to: pino.DestinationStream = pino.destination({ dest: 2, sync: true }),
): Log {
  return pino(
    {
      level,
      base: null,
      mixin: callLogFields,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    to,
  )
}

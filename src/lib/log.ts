import { pino } from 'pino'
import { callLogFields } from './observability/call-trace.ts'

export type Log = pino.Logger

/**
 * Creates a log of JSON lines, on standard error by default. Every log call lists its fields
 * explicitly; images, embeddings, complete keys and request bodies are never logged. pino escapes
 * control characters, so text of a caller cannot forge a line. A line that is written during a call
 * contains the ids of the call.
 *
 * @param onLine receives each line that is written.
 */
export function createLog(
  level: string,
  destination: pino.DestinationStream = pino.destination({ dest: 2, sync: true }),
  onLine?: (line: string) => void,
): Log {
  const write = (line: string): void => {
    onLine?.(line)
    destination.write(line)
  }
  return pino(
    {
      level,
      base: null,
      mixin: callLogFields,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    onLine ? { write } : destination,
  )
}

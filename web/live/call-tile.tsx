import { Link } from '@tanstack/react-router'
import type { CallLogEntry } from '../api/responses.ts'
import { formatDuration } from '../format/numbers.ts'
import { codeText } from '../log/code-text.ts'
import { outcomeTexts, outcomeTones } from '../log/call-outcome.tsx'

/** One call: its outcome or result, its score and its latency. It opens the call in the log. */
export function CallTile({ call }: { readonly call: CallLogEntry }) {
  const { callId, keyId, atUtc, action, latencyMs } = call
  const { tone, text } = describeCall(call)
  const score = call.similarity ?? call.livenessScore
  const time = atUtc.slice(11, 19)
  return (
    <Link
      className="fg-tile"
      data-tone={tone}
      to="/log"
      search={{ keyId, period: '1h', call: String(callId) }}
    >
      <span className="fg-tile-text">{text}</span>
      <span className="fg-mono">
        {score === null ? action.replace('svc.', '') : score.toFixed(3)}
      </span>
      <span className="fg-mono">
        {time} {formatDuration(latencyMs)}
      </span>
    </Link>
  )
}

function describeCall({ ok, code, outcome, nearMiss }: CallLogEntry) {
  if (!ok) return { tone: 'bad', text: codeText(code) }
  if (outcome === null) return { tone: 'plain', text: 'ok' }
  if (nearMiss) return { tone: 'warn', text: 'near miss' }
  return { tone: outcomeTones[outcome], text: outcomeTexts[outcome] }
}

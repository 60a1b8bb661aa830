import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CallDetail } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { CodeBlock } from '../parts/code-block.tsx'
import { Facts } from '../parts/facts.tsx'
import { Money } from '../parts/money.tsx'
import { durationOf } from '../parts/numbers.ts'
import { SideSheet } from '../parts/side-sheet.tsx'
import { Tag } from '../parts/tag.tsx'
import { Utc } from '../parts/utc.tsx'
import { Postings } from '../money/postings.tsx'

type Parts = { readonly callId: string; readonly onClose: () => void }

/** All that is kept of one call. */
export function CallSheet({ callId, onClose }: Parts) {
  const asked = useAnswer('/log/:callId', { parts: { callId } })
  return (
    <SideSheet title="Call" onClose={onClose}>
      <Answered asked={asked}>{(call) => <Content call={call} />}</Answered>
    </SideSheet>
  )
}

function Content({ call }: { readonly call: CallDetail }) {
  return (
    <>
      <Facts facts={factsOf(call)} />
      {call.transfer ? (
        <>
          <Facts
            facts={{
              Charge: (
                <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/money/ledger" />}>
                  {call.transfer.kind} in the money audit
                </Anchor>
              ),
            }}
          />
          <Postings postings={call.transfer.postings} />
        </>
      ) : (
        <p>Nothing was charged for it.</p>
      )}
      {call.attempt !== undefined && (
        <CodeBlock label="attempt" text={JSON.stringify(call.attempt, undefined, 2)} />
      )}
    </>
  )
}

function factsOf(call: CallDetail) {
  return {
    'Time (UTC)': <Utc at={call.atUtc} />,
    Action: <span className="fg-mono">{call.action}</span>,
    Result: <Tag tone={call.ok ? 'ok' : 'bad'}>{call.ok ? 'ok' : (call.code ?? 'failed')}</Tag>,
    Replay: call.isReplay ? 'yes: an answer given before, free of charge' : 'no',
    'Request id': <span className="fg-mono">{call.requestId}</span>,
    'Call id': <span className="fg-mono">{call.callId}</span>,
    Project: call.projectName,
    Key: call.keyName,
    Took: durationOf(call.latencyMs),
    Cost: <Money micros={call.costMicros} />,
  }
}

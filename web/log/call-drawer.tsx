import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { LoggedCallDetails } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { formatDuration } from '../format/numbers.ts'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { PostingTable } from '../money/posting-table.tsx'

type Props = { readonly callId: string; readonly onClose: () => void }

/** All that is kept of one call. */
export function CallDrawer({ callId, onClose }: Props) {
  const asked = useApiQuery('/log/:callId', { pathParams: { callId } })
  return (
    <DetailDrawer title="Call" onClose={onClose}>
      <QueryContent query={asked}>{(call) => <CallDetails call={call} />}</QueryContent>
    </DetailDrawer>
  )
}

function CallDetails({ call }: { readonly call: LoggedCallDetails }) {
  return (
    <>
      <DefinitionList facts={definitionsOf(call)} />
      {call.transfer ? (
        <>
          <DefinitionList
            facts={{
              Charge: (
                <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/money/ledger" />}>
                  {call.transfer.kind} in the money audit
                </Anchor>
              ),
            }}
          />
          <PostingTable postings={call.transfer.postings} />
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

function definitionsOf(call: LoggedCallDetails) {
  return {
    'Time (UTC)': <UtcTime timestampUtc={call.atUtc} />,
    Action: <span className="fg-mono">{call.action}</span>,
    Result: (
      <StatusTag tone={call.ok ? 'ok' : 'bad'}>
        {call.ok ? 'ok' : (call.code ?? 'failed')}
      </StatusTag>
    ),
    Replay: call.isReplay ? 'yes: an answer given before, free of charge' : 'no',
    'Request id': <span className="fg-mono">{call.requestId}</span>,
    'Call id': <span className="fg-mono">{call.callId}</span>,
    Project: call.projectName,
    Key: call.keyName,
    Took: formatDuration(call.latencyMs),
    Cost: <MoneyAmount micros={call.costMicros} />,
  }
}

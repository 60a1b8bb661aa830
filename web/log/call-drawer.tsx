import { Anchor, Button, Group } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import type { LoggedCallDetails } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { CopyableText } from '../components/copy-button.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { CallCost } from '../money/call-cost.tsx'
import { formatDuration } from '../format/numbers.ts'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { CallOutcome } from './call-outcome.tsx'
import { CallActions } from './call-actions.tsx'
import { CallFeedback } from './call-feedback.tsx'
import { codeText } from './code-text.ts'
import { NearMissPicture } from './near-miss-picture.tsx'
import { CallParameters, CallProblems } from './call-problems.tsx'
import { livenessReasonTexts } from '../playground/result/words.ts'
import { PostingTable } from '../money/ledger/posting-table.tsx'

type Props = {
  readonly callId: string
  /** The calls above and below it in the list. */
  readonly otherIds: { readonly above: string | undefined; readonly below: string | undefined }
  readonly onOpen: (callId: string) => void
  readonly onClose: () => void
}

/** Shows the stored data of one call. */
export function CallDrawer({ callId, otherIds, onOpen, onClose }: Props) {
  const query = useApiQuery('/log/:callId', { pathParams: { callId } })
  const { above, below } = otherIds
  useHotkeys([
    ['ArrowUp', () => above !== undefined && onOpen(above)],
    ['ArrowDown', () => below !== undefined && onOpen(below)],
  ])
  return (
    <DetailDrawer title="Call" onClose={onClose}>
      <Group gap="xs">
        {(
          [
            ['Previous call (↑)', above],
            ['Next call (↓)', below],
          ] as const
        ).map(([label, id]) => (
          <Button
            key={label}
            size="xs"
            variant="default"
            disabled={id === undefined}
            onClick={() => id !== undefined && onOpen(id)}
          >
            {label}
          </Button>
        ))}
      </Group>
      <QueryContent query={query}>{(call) => <CallDetails call={call} />}</QueryContent>
    </DetailDrawer>
  )
}

function CallDetails({ call }: { readonly call: LoggedCallDetails }) {
  return (
    <>
      <CallProblems call={call} />
      <CallActions call={call} />
      <CallFeedback call={call} />
      <NearMissPicture key={call.callId} call={call} />
      <DefinitionList items={definitionsOf(call)} />
      <CallParameters call={call} />
      {call.transfer ? (
        <>
          <DefinitionList
            items={{
              Charge: (
                <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/money/ledger" />}>
                  View {call.transfer.kind} in ledger
                </Anchor>
              ),
            }}
          />
          <PostingTable transfer={call.transfer} />
        </>
      ) : (
        <p>No charge</p>
      )}
    </>
  )
}

function definitionsOf(call: LoggedCallDetails) {
  return {
    'Time (UTC)': <UtcTime withLocal timestampUtc={call.atUtc} />,
    Action: <span className="fg-mono">{call.action}</span>,
    Result: (
      <StatusTag tone={call.ok ? 'ok' : 'bad'}>{call.ok ? 'ok' : codeText(call.code)}</StatusTag>
    ),
    ...(call.outcome !== null && {
      Outcome: <CallOutcome call={call} />,
      ...(call.margin !== null && {
        'Ahead of the next person': `by a similarity of ${call.margin.toFixed(3)}`,
      }),
      ...(call.quality !== null && { 'Quality of the face': `${call.quality} of 100` }),
      ...(call.reason !== null && { Reason: reasonText(call.reason) }),
    }),
    'Repeated request': call.isReplay
      ? 'Yes: it received the stored response of the first one, without a charge'
      : 'No',
    ...(call.attempt && {
      'Stored response': call.attempt.isResponseStored
        ? 'Yes: a repeated request receives it, without a charge'
        : 'No',
    }),
    'Request id': <CopyableText label="request id" text={call.requestId} />,
    'Call id': <CopyableText label="call id" text={String(call.callId)} />,
    Project: call.projectName,
    Key: call.keyName,
    Latency: formatDuration(call.latencyMs),
    Cost: <CallCost call={call} />,
  }
}

const knownReasons: Readonly<Record<string, string>> = livenessReasonTexts

/** The log contains the reasons of a liveness decision as codes, separated by commas. */
function reasonText(reasons: string): string {
  return reasons
    .split(',')
    .map((reason) => knownReasons[reason.trim()] ?? reason)
    .join(' ')
}

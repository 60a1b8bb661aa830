import { Button, Group, Image, Stack, Text, UnstyledButton } from '@mantine/core'
import { StatusTag } from '../../components/status-tag.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatDuration } from '../../format/numbers.ts'
import { Panel } from '../../layout/panel.tsx'
import type { ResultEnvelope } from '../result/envelope.ts'
import type { KeptRun } from './kept-run.ts'
import { useRunHistory } from './run-history.tsx'

type Props = {
  readonly selectedId: string | undefined
  readonly onSelect: (run: KeptRun | undefined) => void
}

/** The runs of this session. A click shows the result of a run again, without a call. */
export function HistoryPanel({ selectedId, onSelect }: Props) {
  const { runs, clear } = useRunHistory()
  if (runs.length === 0) return null
  return (
    <Panel
      title="History"
      actions={
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            // The shown run can be one of them, and its pictures are released.
            onSelect(undefined)
            clear()
          }}
        >
          Clear history
        </Button>
      }
    >
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {runs.map((run) => (
          <li key={run.id}>
            <HistoryRow run={run} isSelected={run.id === selectedId} onSelect={onSelect} />
          </li>
        ))}
      </Stack>
      <Text size="xs" c="dimmed" mt="xs">
        Only in the memory of this tab, until you sign out or reload the page.
      </Text>
    </Panel>
  )
}

type HistoryRowProps = {
  readonly run: KeptRun
  readonly isSelected: boolean
  readonly onSelect: (run: KeptRun) => void
}

function HistoryRow({ run, isSelected, onSelect }: HistoryRowProps) {
  const { call, response, atMs, thumbnailUrl } = run
  const { ok, errors = [] } = response.envelope as ResultEnvelope
  return (
    <UnstyledButton
      className="fg-history-row"
      aria-current={isSelected ? 'true' : undefined}
      onClick={() => onSelect(run)}
      w="100%"
    >
      <Group gap="sm" wrap="nowrap">
        {thumbnailUrl === undefined ? (
          <div className="fg-history-picture" />
        ) : (
          <Image src={thumbnailUrl} alt="" className="fg-history-picture" fit="cover" />
        )}
        <Stack gap={0} style={{ minWidth: 0 }}>
          <Text size="sm" ff="monospace" truncate>
            {call.action}
          </Text>
          <StatusTag tone={ok ? 'ok' : 'bad'}>
            {ok ? 'ok' : (errors[0]?.code ?? 'failed')}
          </StatusTag>
        </Stack>
        <Stack gap={0} align="flex-end" ml="auto">
          <Text size="xs" component="span">
            <UtcTime timestampUtc={new Date(atMs).toISOString()} />
          </Text>
          <Text size="xs" c="dimmed">
            {formatDuration(response.latencyMs)}
          </Text>
        </Stack>
      </Group>
    </UnstyledButton>
  )
}

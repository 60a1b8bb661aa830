import { Stack, Text } from '@mantine/core'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { MoneyAmount } from './money-amount.tsx'
import { formatCount } from '../format/numbers.ts'
import { StatusTag } from '../components/status-tag.tsx'

type Props = {
  readonly range: {
    readonly projectId: string | undefined
    readonly fromUtc: string | undefined
    readonly toUtc: string | undefined
    readonly period: string | undefined
  }
}

/** Compares the costs in the request log with the charges in the ledger. */
export function Reconciliation({ range }: Props) {
  const query = useApiQuery('/money/reconcile', { query: range })
  const isSelected = range.fromUtc ?? range.toUtc ?? range.period
  return (
    <QueryContent query={query}>
      {({ ok, logMicros, ledgerMicros, billedCalls, charges }) => (
        <Stack gap="xs">
          <StatusTag tone={ok ? 'ok' : 'bad'}>
            {ok ? 'Request log and ledger match' : 'Request log and ledger differ'}
          </StatusTag>
          <DefinitionList
            items={{
              'Request log': (
                <>
                  <MoneyAmount micros={logMicros} /> · {formatCount(billedCalls)} billed calls
                </>
              ),
              Ledger: (
                <>
                  <MoneyAmount micros={ledgerMicros} /> · {formatCount(charges)} charges
                </>
              ),
            }}
          />
          <Text size="xs" c="dimmed">
            {isSelected ? 'Selected period' : 'Last 30 days'},{' '}
            {range.projectId ? 'selected project' : 'all projects'}
          </Text>
        </Stack>
      )}
    </QueryContent>
  )
}

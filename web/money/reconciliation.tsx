import { Stack, Text } from '@mantine/core'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { formatCount } from '../format/numbers.ts'
import { StatusTag } from '../components/status-tag.tsx'

type Props = { readonly fromUtc: string | undefined; readonly toUtc: string | undefined }

/** Whether the costs in the request log and the charges in the ledger are the same money. */
export function Reconciliation({ fromUtc, toUtc }: Props) {
  const asked = useApiQuery('/money/reconcile', { query: { fromUtc, toUtc } })
  return (
    <QueryContent query={asked}>
      {({ ok, logMicros, ledgerMicros, billedCalls, charges }) => (
        <Stack gap="xs">
          <StatusTag tone={ok ? 'ok' : 'bad'}>
            {ok ? 'They agree to the last micro-unit.' : 'They differ.'}
          </StatusTag>
          <DefinitionList
            facts={{
              'Request log': (
                <>
                  <MoneyAmount micros={logMicros} /> in {formatCount(billedCalls)} billed calls
                </>
              ),
              Ledger: (
                <>
                  <MoneyAmount micros={ledgerMicros} /> in {formatCount(charges)} charges
                </>
              ),
            }}
          />
          <Text size="xs" c="dimmed">
            {fromUtc || toUtc ? 'In the period chosen below.' : 'Since the beginning.'}
          </Text>
        </Stack>
      )}
    </QueryContent>
  )
}

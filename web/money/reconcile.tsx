import { Stack, Text } from '@mantine/core'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { Facts } from '../parts/facts.tsx'
import { Money } from '../parts/money.tsx'
import { countOf } from '../parts/numbers.ts'
import { Tag } from '../parts/tag.tsx'

type Parts = { readonly fromUtc: string | undefined; readonly toUtc: string | undefined }

/** Whether the costs in the request log and the charges in the ledger are the same money. */
export function Reconcile({ fromUtc, toUtc }: Parts) {
  const asked = useAnswer('/money/reconcile', { query: { fromUtc, toUtc } })
  return (
    <Answered asked={asked}>
      {({ ok, logMicros, ledgerMicros, billedCalls, charges }) => (
        <Stack gap="xs">
          <Tag tone={ok ? 'ok' : 'bad'}>
            {ok ? 'They agree to the last micro-unit.' : 'They differ.'}
          </Tag>
          <Facts
            facts={{
              'Request log': (
                <>
                  <Money micros={logMicros} /> in {countOf(billedCalls)} billed calls
                </>
              ),
              Ledger: (
                <>
                  <Money micros={ledgerMicros} /> in {countOf(charges)} charges
                </>
              ),
            }}
          />
          <Text size="xs" c="dimmed">
            {fromUtc || toUtc ? 'In the period chosen below.' : 'Since the beginning.'}
          </Text>
        </Stack>
      )}
    </Answered>
  )
}

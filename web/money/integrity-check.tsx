import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { StatusTag } from '../components/status-tag.tsx'

/** Runs the integrity checks of the ledger on demand. A large ledger takes longer. */
export function IntegrityCheck() {
  const [isStarted, setIsStarted] = useState(false)
  const query = useApiQuery('/money/verify', { enabled: isStarted })
  if (!isStarted)
    return (
      <Stack align="flex-start" gap="xs">
        <Text size="sm">Verifies all postings, balances and the hash chain.</Text>
        <Button size="xs" variant="default" onClick={() => setIsStarted(true)}>
          Run integrity check
        </Button>
      </Stack>
    )
  return (
    <QueryContent query={query}>
      {({ checks }) => (
        <DataTable
          caption="Integrity checks"
          rows={checks}
          rowKey={({ name }) => name}
          columns={[
            { name: 'Check', renderCell: ({ name }) => name },
            {
              name: 'Status',
              renderCell: ({ ok }) => (
                <StatusTag tone={ok ? 'ok' : 'bad'}>{ok ? 'Passed' : 'Failed'}</StatusTag>
              ),
            },
            { name: 'Details', renderCell: ({ detail }) => detail },
          ]}
          empty={null}
        />
      )}
    </QueryContent>
  )
}

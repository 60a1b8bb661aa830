import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { StatusTag } from '../components/status-tag.tsx'

/** Reads the books whole and says which of their laws hold. It takes a while on long ones. */
export function IntegrityCheck() {
  const [isWanted, setIsWanted] = useState(false)
  const asked = useApiQuery('/money/verify', { enabled: isWanted })
  if (!isWanted)
    return (
      <Stack align="flex-start" gap="xs">
        <Text size="sm">
          Reads every posting and checks that the sums, the balances and the hash chain hold.
        </Text>
        <Button size="xs" variant="default" onClick={() => setIsWanted(true)}>
          Check the books
        </Button>
      </Stack>
    )
  return (
    <QueryContent query={asked}>
      {({ checks }) => (
        <DataTable
          caption="Laws of the books"
          rows={checks}
          rowKey={({ name }) => name}
          columns={[
            { name: 'Law', renderCell: ({ name }) => name },
            {
              name: 'State',
              renderCell: ({ ok }) => (
                <StatusTag tone={ok ? 'ok' : 'bad'}>{ok ? 'holds' : 'broken'}</StatusTag>
              ),
            },
            { name: 'Detail', renderCell: ({ detail }) => detail },
          ]}
          empty={null}
        />
      )}
    </QueryContent>
  )
}

import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Tag } from '../parts/tag.tsx'

/** Reads the books whole and says which of their laws hold. It takes a while on long ones. */
export function BooksCheck() {
  const [isWanted, setIsWanted] = useState(false)
  const asked = useAnswer('/money/verify', { enabled: isWanted })
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
    <Answered asked={asked}>
      {({ checks }) => (
        <DataTable
          caption="Laws of the books"
          rows={checks}
          keyOf={({ name }) => name}
          columns={[
            { name: 'Law', cell: ({ name }) => name },
            {
              name: 'State',
              cell: ({ ok }) => <Tag tone={ok ? 'ok' : 'bad'}>{ok ? 'holds' : 'broken'}</Tag>,
            },
            { name: 'Detail', cell: ({ detail }) => detail },
          ]}
          empty={null}
        />
      )}
    </Answered>
  )
}

import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../api/answers.ts'
import { Answered } from './answered.tsx'
import { DataTable, type Column } from './data-table.tsx'
import { Pager } from './pager.tsx'

type Parts<Row> = {
  readonly caption: string
  readonly asked: UseQueryResult<Page<Row>>
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly empty: ReactNode
  readonly cursor: string | undefined
  readonly onCursor: (cursor: string | undefined) => void
  readonly onOpen?: (row: Row) => void
  readonly openLabel?: (row: Row) => string
}

/** One page of a list that the server filters, sorts and cuts. */
export function ListPanel<Row>({ asked, cursor, onCursor, ...table }: Parts<Row>) {
  return (
    <div className="fg-panel">
      <Answered asked={asked}>
        {({ items, nextCursor }) => (
          <>
            <DataTable {...table} rows={items} />
            <Pager
              shown={items.length}
              cursor={cursor}
              nextCursor={nextCursor}
              onCursor={onCursor}
            />
          </>
        )}
      </Answered>
    </div>
  )
}

/** Downloads a whole list, under the filters on screen. */
export function CsvButton({ href }: { readonly href: string }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      size="sm"
      leftSection={<IconDownload size={15} aria-hidden />}
    >
      CSV
    </Button>
  )
}

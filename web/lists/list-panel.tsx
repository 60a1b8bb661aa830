import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { CursorPage } from '../api/responses.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable, type Column } from './data-table.tsx'
import { Pager } from './pager.tsx'

type Props<Row> = {
  readonly caption: string
  readonly query: UseQueryResult<CursorPage<Row>>
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  readonly empty: ReactNode
  readonly cursor: string | undefined
  readonly onCursorChange: (cursor: string | undefined) => void
  readonly onOpen?: (row: Row) => void
  readonly openLabel?: (row: Row) => string
  readonly isNew?: (row: Row) => boolean
}

/** One page of a list that the server filters, sorts and divides into pages. */
export function ListPanel<Row>({ query, cursor, onCursorChange, ...table }: Props<Row>) {
  return (
    <div className="fg-panel">
      <QueryContent query={query}>
        {({ items, nextCursor }) => (
          <>
            <DataTable {...table} rows={items} />
            <Pager
              rowCount={items.length}
              cursor={cursor}
              nextCursor={nextCursor}
              onCursorChange={onCursorChange}
            />
          </>
        )}
      </QueryContent>
    </div>
  )
}

/** Downloads the complete list with the current filters. */
export function CsvDownloadButton({ href }: { readonly href: string }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      size="sm"
      leftSection={<IconDownload size={15} aria-hidden />}
    >
      Download CSV
    </Button>
  )
}

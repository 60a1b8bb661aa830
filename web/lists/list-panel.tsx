import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import type { CursorPage } from '../api/responses.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from './data-table.tsx'
import { Pager } from './pager.tsx'

type PagerProps = ComponentProps<typeof Pager>

type Props<Row> = Omit<ComponentProps<typeof DataTable<Row>>, 'rows'> &
  Omit<PagerProps, 'rowCount' | 'previousCursor' | 'nextCursor'> & {
    readonly query: UseQueryResult<CursorPage<Row>>
    /** The order of the server without a choice of the user. */
    readonly defaultSort?: string
    /** Shows the items in another form than a table. */
    readonly renderItems?: ((items: readonly Row[]) => ReactNode) | undefined
  }

/** One page of a list that the server filters, sorts and divides into pages. */
export function ListPanel<Row>({
  query,
  cursor,
  onCursorChange,
  total,
  limit,
  onLimitChange,
  sort,
  defaultSort,
  renderItems,
  ...table
}: Props<Row>) {
  return (
    <div className="fg-panel">
      <QueryContent query={query}>
        {({ items, nextCursor, previousCursor }) => (
          <>
            {renderItems && items.length > 0 ? (
              renderItems(items)
            ) : (
              <DataTable {...table} sort={sort ?? defaultSort} rows={items} />
            )}
            <Pager
              rowCount={items.length}
              {...{ cursor, previousCursor, nextCursor, onCursorChange }}
              {...{ total, limit, onLimitChange }}
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

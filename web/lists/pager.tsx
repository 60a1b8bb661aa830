import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { formatCount } from '../format/numbers.ts'

/** The number of rows on all pages. A capped number is a lower limit. */
export type ListTotal = {
  readonly total?: number | undefined
  readonly totalIsCapped?: true | undefined
}

type Props = {
  readonly rowCount: number
  /** The cursor of this page, undefined for the first page. */
  readonly cursor: string | undefined
  readonly previousCursor: string | null
  readonly nextCursor: string | null
  readonly onCursorChange: (cursor: string | undefined) => void
  readonly total?: ListTotal | undefined
  /** The rows of a page. */
  readonly limit?: string | undefined
  /** Without it the number of rows is fixed. */
  readonly onLimitChange?: ((limit: string) => void) | undefined
}

const defaultPageRows = '50'
const pageRows = ['25', defaultPageRows, '100', '200']

/** Opens the first, the previous or the next page of a list. */
export function Pager({ rowCount, cursor, onCursorChange, limit, onLimitChange, ...page }: Props) {
  const { previousCursor, nextCursor, total } = page
  if (rowCount === 0 && !cursor) return null
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Text size="xs" c="dimmed">
        {countText(rowCount, total)}
      </Text>
      <Group gap="xs">
        {onLimitChange && (
          <NativeSelect
            size="xs"
            aria-label="Rows per page"
            data={pageRows.map((value) => ({ value, label: `${value} rows` }))}
            value={limit ?? defaultPageRows}
            onChange={(event) => onLimitChange(event.currentTarget.value)}
          />
        )}
        <PageButton
          label="First page"
          isDisabled={!cursor}
          onClick={() => onCursorChange(undefined)}
        />
        <PageButton
          label="Previous page"
          isDisabled={!previousCursor}
          onClick={() => onCursorChange(previousCursor ?? undefined)}
        />
        <PageButton
          label="Next page"
          isDisabled={!nextCursor}
          onClick={() => onCursorChange(nextCursor ?? undefined)}
        />
      </Group>
    </Group>
  )
}

type PageButtonProps = {
  readonly label: string
  readonly isDisabled: boolean
  readonly onClick: () => void
}

function PageButton({ label, isDisabled, onClick }: PageButtonProps) {
  return (
    <Button size="xs" variant="default" disabled={isDisabled} onClick={onClick}>
      {label}
    </Button>
  )
}

function countText(rowCount: number, { total, totalIsCapped }: ListTotal = {}): string {
  const rows = `${formatCount(rowCount)} ${rowCount === 1 ? 'row' : 'rows'} on this page`
  if (total === undefined) return rows
  return `${rows}, ${formatCount(total)}${totalIsCapped ? '+' : ''} in total`
}

import { Button, Group, Text } from '@mantine/core'
import { LinkButton } from '../../components/link-button.tsx'
import { IconDownload } from '@tabler/icons-react'
import { DataTable, type Column } from '../../lists/data-table.tsx'
import { formatCount } from '../../format/numbers.ts'
import { countResults, isProblem, resultsCsv, type RowResult } from './import-result.ts'

type Props = { readonly results: readonly RowResult[]; readonly isRunning: boolean }

const shownMax = 100

const resultTexts: Readonly<Record<RowResult['result'], string>> = {
  enrolled: 'enrolled',
  added: 'faces added to existing subjects',
  duplicate: 'similar to enrolled subjects',
  updated: 'updated',
  unchanged: 'unchanged',
  unknown: 'unknown',
  refused: 'refused',
}

/** The counts of an import, the rows with a problem, and all results as a file. */
export function ImportResults({ results, isRunning }: Props) {
  const problems = results.filter(isProblem).toSorted((a, b) => a.line - b.line)
  const counts = countResults(results).map(
    ([result, count]) => `${formatCount(count)} ${resultTexts[result]}`,
  )
  return (
    <>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {counts.join(' · ')}
        </Text>
        <Button
          size="xs"
          variant="default"
          disabled={isRunning}
          leftSection={<IconDownload size={14} aria-hidden />}
          onClick={() => download(resultsCsv(results))}
        >
          Download results
        </Button>
      </Group>
      {problems.length > shownMax && (
        <Text size="xs" c="dimmed">
          The first {shownMax} of {formatCount(problems.length)} rows with a problem. The file
          contains all of them.
        </Text>
      )}
      <DataTable
        caption="Rows with a problem"
        rows={problems.slice(0, shownMax)}
        rowKey={({ line }) => String(line)}
        columns={columns}
        empty={null}
      />
    </>
  )
}

const columns: readonly Column<RowResult>[] = [
  { name: 'Line', align: 'right', renderCell: ({ line }) => line },
  { name: 'Row', renderCell: ({ name }) => name },
  { name: 'Result', renderCell: ({ result }) => result },
  { name: 'Reason', renderCell: ({ message }) => message ?? '' },
  {
    name: 'Subject',
    renderCell: ({ subjectId }) =>
      subjectId !== undefined && (
        <LinkButton
          to="/subjects"
          search={{ subject: subjectId }}
          size="compact-xs"
          variant="default"
        >
          Open
        </LinkButton>
      ),
  },
]

function download(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'facegate-import-results.csv'
  link.click()
  URL.revokeObjectURL(url)
}

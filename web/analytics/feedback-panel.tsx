import { Text } from '@mantine/core'
import type { QueryParams } from '../api/api.ts'
import type { ConsoleResponses } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { formatCount, formatPercentage } from '../format/numbers.ts'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'

type FeedbackRow = ConsoleResponses['/analytics/feedback']['projects'][number]

/** The columns of both tables after their names. */
const countColumns: readonly Column<FeedbackRow>[] = [
  { name: 'Confirmed', align: 'right', renderCell: ({ confirmed }) => formatCount(confirmed) },
  { name: 'Denied', align: 'right', renderCell: ({ denied }) => formatCount(denied) },
  {
    name: 'False matches',
    align: 'right',
    renderCell: ({ falseMatchRate }) => formatPercentage(falseMatchRate.observed),
  },
  {
    name: '95 % interval',
    align: 'right',
    renderCell: ({ falseMatchRate: { low, high } }) =>
      `${formatPercentage(low)} to ${formatPercentage(high)}`,
  },
]

const projectColumn: Column<FeedbackRow> = {
  name: 'Project',
  renderCell: ({ projectName }) => projectName,
}

/** Confirmed and denied matches of the period, with the observed false-match rate. */
export function FeedbackPanel({ filters }: { readonly filters: QueryParams }) {
  const query = useApiQuery('/analytics/feedback', { query: filters })
  return (
    <Panel title="Feedback">
      <QueryContent query={query}>
        {({ projects, groups }) =>
          projects.length === 0 ? (
            <NoData title="No feedback in this period">
              Matches that were confirmed or denied appear here. Switch feedback on in the project,
              then open a match in the request log.
            </NoData>
          ) : (
            <>
              <DataTable
                caption="Feedback by project"
                rows={projects}
                rowKey={({ projectId }) => projectId}
                columns={[projectColumn, ...countColumns]}
                empty={null}
              />
              <DataTable
                caption="Feedback by group"
                rows={groups}
                rowKey={({ projectId, group }) => `${projectId} ${group ?? ''}`}
                columns={[
                  { name: 'Group', renderCell: ({ group }) => group ?? 'without a group' },
                  projectColumn,
                  ...countColumns,
                ]}
                empty={null}
              />
              <Text size="xs" c="dimmed">
                Matches of this period that were confirmed or denied. False matches: the share of
                denied ones, with its 95 % interval (Wilson). It is the rate of all matches only if
                the verdicts do not depend on the result, such as for each match of a day. A person
                counts in each of the present groups.
              </Text>
            </>
          )
        }
      </QueryContent>
    </Panel>
  )
}

import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { groupFilter, type LogSearch } from '../charts/log-search.ts'
import type { Column } from '../lists/data-table.tsx'

type Group = { readonly id: string; readonly name: string }

/** The column with the names of the groups, which open their calls of the period in the log. */
export function groupColumn(groupBy: string, period: LogSearch): Column<Group> {
  return {
    name: groupBy,
    renderCell: ({ name, id }) => (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link {...props} to="/log" search={{ ...period, ...groupFilter(groupBy, id) }} />
        )}
      >
        {name}
      </Anchor>
    ),
  }
}

import { Select } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useApiQuery } from '../api/use-api.ts'

/** Selects the project that the pages show. The URL contains it as `projectId`. */
export function ProjectSwitcher() {
  const { projectId } = useSearch({ from: '__root__' })
  const navigate = useNavigate()
  const projects = useApiQuery('/projects')
  const options = (projects.data?.items ?? []).map(({ projectId: value, name: label }) => ({
    value,
    label,
  }))
  // Without an option, an unknown project would be shown as "All projects".
  const isUnknown =
    projects.data !== undefined && projectId && !options.some(({ value }) => value === projectId)
  return (
    <Select
      aria-label="Project"
      placeholder="All projects"
      size="xs"
      className="fg-switcher"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'All projects' }}
      value={projectId ?? null}
      data={isUnknown ? [...options, { value: projectId, label: 'Unknown project' }] : options}
      onChange={(value) =>
        void navigate({
          to: '.',
          // Cursors and filters of one project are invalid for another, so they are removed.
          search: { projectId: value ?? undefined },
        })
      }
    />
  )
}

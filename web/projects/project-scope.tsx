import { Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { EmptyState } from '../components/empty-state.tsx'

/**
 * Selects the project for a page that requires one: the project in the URL, else the first one. Its
 * name is shown above the content.
 */
export function ProjectScope({
  children,
}: {
  readonly children: (projectId: string) => ReactNode
}) {
  const { projectId } = useSearch({ from: '__root__' })
  const projects = useApiQuery('/projects')
  return (
    <QueryContent query={projects}>
      {({ items }) => {
        const project = items.find((item) => item.projectId === projectId) ?? items[0]
        if (!project)
          return <EmptyState title="No projects">Create a project on the Projects page.</EmptyState>
        return (
          <>
            <Text size="sm" c="dimmed">
              Project: {project.name}
            </Text>
            {children(project.projectId)}
          </>
        )
      }}
    </QueryContent>
  )
}

import { Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from './query-content.tsx'
import { EmptyState } from './empty-state.tsx'

/**
 * For pages that need one project: the one of the address, else the first. Which one it is stands
 * above the content.
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
        const project = items.find((known) => known.projectId === projectId) ?? items[0]
        if (!project)
          return (
            <EmptyState title="No project yet">
              Make one under Projects; it brings a gallery.
            </EmptyState>
          )
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

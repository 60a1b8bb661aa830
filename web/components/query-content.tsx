import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'

type Props<Data> = {
  readonly query: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** Shows the data of a query, a placeholder while it loads, or its error. */
export function QueryContent<Data>({ query, children }: Props<Data>) {
  // Data of a deleted resource (404) is hidden. After any other error the last data stays visible.
  const isDeleted = query.error instanceof ApiError && query.error.status === 404
  if (query.data !== undefined && !isDeleted) return <>{children(query.data)}</>
  if (query.error)
    return (
      <ErrorNotice
        title="Couldn't load data"
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  return (
    <Stack component="output" gap="xs" aria-busy="true" aria-label="Loading">
      <Skeleton h={16} w="40%" />
      <Skeleton h={16} />
      <Skeleton h={16} w="80%" />
    </Stack>
  )
}

import type { ReactNode } from 'react'
import type { ActionInfo, PlaygroundSettings } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'

type CallData = {
  readonly actions: readonly ActionInfo[]
  readonly settings: PlaygroundSettings
}

/** Shows its content when the actions and the limits of images are loaded. */
export function WithCallData({ children }: { readonly children: (data: CallData) => ReactNode }) {
  const actionsQuery = useApiQuery('/actions')
  const settingsQuery = useApiQuery('/playground/settings')
  return (
    <QueryContent query={actionsQuery}>
      {(actions) => (
        <QueryContent query={settingsQuery}>
          {(settings) => children({ actions, settings })}
        </QueryContent>
      )}
    </QueryContent>
  )
}

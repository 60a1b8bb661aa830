import { Button, Group, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { ActionInfo, PlaygroundResponse } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Panel } from '../layout/panel.tsx'
import { FieldInput } from './field-input.tsx'
import { formFieldsOf } from './form-fields.ts'
import { parseParams, type FormEntries } from './parse-params.ts'
import type { PlaygroundImage } from './playground-image.ts'
import { ImagePicker } from './image-picker.tsx'
import { RequestView } from './request-view.tsx'
import { ResultPanel } from './result-panel.tsx'

type Props = {
  readonly action: ActionInfo
  readonly projectId: string
  readonly entries: FormEntries
  readonly images: readonly PlaygroundImage[]
  readonly onEntriesChange: (entries: FormEntries) => void
  readonly onImagesChange: (pictures: readonly PlaygroundImage[]) => void
}

type RunResult = {
  readonly response: PlaygroundResponse
  readonly images: readonly PlaygroundImage[]
}

/** One action: its pictures and parameters on the left, request and answer on the right. */
export function ActionRunner({
  action,
  projectId,
  entries,
  images: pictures,
  onEntriesChange: onEntries,
  onImagesChange: onPictures,
}: Props) {
  const mayCall = useHasRole('admin')
  const fields = useMemo(() => formFieldsOf(action.paramsSchema), [action.paramsSchema])
  const [debug, setDebug] = useState(false)
  const [shown, setShown] = useState<RunResult>()
  const run = useApiMutation<PlaygroundResponse>({
    method: 'POST',
    path: '/playground',
    onSuccess: (answer) => setShown({ response: answer, images: sent }),
  })
  const { params, problems } = parseParams(fields, entries)
  const sent = pictures.slice(0, action.imagesMax)
  const images = sent.map(({ contentType, base64 }) => ({
    kind: 'image',
    contentType,
    bytes: base64,
  }))
  const isReady = Object.keys(problems).length === 0 && sent.length >= action.imagesMin
  const call = {
    action: action.name,
    params: images.length > 0 ? { images, ...params } : params,
    ...(debug ? { debug } : {}),
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Stack>
        {action.imagesMax > 0 && (
          <Panel title="Pictures">
            <ImagePicker images={sent} imagesMax={action.imagesMax} onChange={onPictures} />
          </Panel>
        )}
        <Panel title="Parameters">
          <Stack gap="sm">
            {fields.map((field) => (
              <FieldInput
                key={field.name}
                field={field}
                entry={entries[field.name]}
                error={isEmptyError(problems[field.name]) ? undefined : problems[field.name]}
                onChange={(entry) => onEntries({ ...entries, [field.name]: entry })}
              />
            ))}
          </Stack>
        </Panel>
      </Stack>
      <Stack>
        <Panel title="Call">
          <Group justify="space-between">
            <Switch
              label="debug"
              description="Adds models, raw scores and timings to the answer."
              size="xs"
              checked={debug}
              onChange={(event) => setDebug(event.currentTarget.checked)}
            />
            <Button
              disabled={!mayCall || !isReady}
              loading={run.isPending}
              onClick={() => run.mutate({ body: { projectId, call } })}
            >
              Run {action.name}
            </Button>
          </Group>
          <Text size="xs" c="dimmed" mt="xs">
            {mayCall
              ? 'Billed and logged like any call of the project.'
              : 'Calls cost money: they need the role admin.'}
          </Text>
        </Panel>
        <ErrorNotice error={run.error} />
        {shown && <ResultPanel response={shown.response} images={shown.images} />}
        <RequestView action={action.name} params={params} debug={debug} images={sent} />
      </Stack>
    </SimpleGrid>
  )
}

/** A field that is still empty is no mistake yet: the button says so by being off. */
function isEmptyError(problem: string | undefined): boolean {
  return problem === 'Needed'
}

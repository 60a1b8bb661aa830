import { Button, Group, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { ActionFacts, PlaygroundAnswer } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Panel } from '../parts/panel.tsx'
import { FieldInput } from './field-input.tsx'
import { fieldsOf } from './fields.ts'
import { readParams, type Entries } from './params.ts'
import type { Picture } from './picture.ts'
import { Pictures } from './pictures.tsx'
import { RequestView } from './request-view.tsx'
import { Result } from './result.tsx'

type Parts = {
  readonly action: ActionFacts
  readonly projectId: string
  readonly entries: Entries
  readonly pictures: readonly Picture[]
  readonly onEntries: (entries: Entries) => void
  readonly onPictures: (pictures: readonly Picture[]) => void
}

type Shown = { readonly answer: PlaygroundAnswer; readonly pictures: readonly Picture[] }

/** One action: its pictures and parameters on the left, request and answer on the right. */
export function Workbench({ action, projectId, entries, pictures, onEntries, onPictures }: Parts) {
  const mayCall = useMay('admin')
  const fields = useMemo(() => fieldsOf(action.paramsSchema), [action.paramsSchema])
  const [debug, setDebug] = useState(false)
  const [shown, setShown] = useState<Shown>()
  const run = useSend<PlaygroundAnswer>({
    method: 'POST',
    path: '/playground',
    onDone: (answer) => setShown({ answer, pictures: sent }),
  })
  const { params, problems } = readParams(fields, entries)
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
            <Pictures pictures={sent} max={action.imagesMax} onChange={onPictures} />
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
        {shown && <Result answer={shown.answer} pictures={shown.pictures} />}
        <RequestView action={action.name} params={params} debug={debug} pictures={sent} />
      </Stack>
    </SimpleGrid>
  )
}

/** A field that is still empty is no mistake yet: the button says so by being off. */
function isEmptyError(problem: string | undefined): boolean {
  return problem === 'Needed'
}

import { Text } from '@mantine/core'
import type { Models } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import { CurveChart } from '../charts/lazy-chart.tsx'
import { Answered } from '../parts/answered.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { bytesOf, countOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'

type Model = Models['active'][number]
type Calibration = NonNullable<Models['calibration']>
type Point = Calibration['points'][number]

/** Which networks look, under which licences, and what their scores mean. */
export function ModelsPage() {
  const asked = useAnswer('/models')
  return (
    <Page
      title="Models"
      lead="The networks that look at pictures, each with its licence and checksum, and what a similarity is worth with the recognizer in use."
    >
      <Answered asked={asked}>
        {({ active, installed, calibration, comparable }) => (
          <>
            <Panel title="Active">
              <ModelTable caption="Active models" models={active} />
            </Panel>
            {calibration && (
              <Panel title="Threshold and false matches">
                <CalibrationView calibration={calibration} />
              </Panel>
            )}
            <Panel title="Templates by model">
              <DataTable
                caption="Templates by model"
                rows={comparable}
                keyOf={({ modelId }) => modelId}
                columns={[
                  { name: 'Model', mono: true, cell: ({ modelId }) => modelId },
                  { name: 'Templates', align: 'right', cell: ({ faces }) => countOf(faces) },
                ]}
                empty={
                  <Empty title="No templates yet">
                    Templates compare only with others of the same model.
                  </Empty>
                }
              />
            </Panel>
            <Panel title="Installed">
              <ModelTable caption="Installed models" models={installed} />
            </Panel>
          </>
        )}
      </Answered>
    </Page>
  )
}

type TableParts = { readonly caption: string; readonly models: readonly Model[] }

function ModelTable({ caption, models }: TableParts) {
  return (
    <DataTable
      caption={caption}
      rows={models}
      keyOf={({ role, id, file }) => `${role} ${id} ${file}`}
      columns={columns}
      empty={
        <Empty title="No packs">Only the networks that come with the service are there.</Empty>
      }
    />
  )
}

const columns: readonly Column<Model>[] = [
  { name: 'Role', cell: ({ role }) => role },
  { name: 'Model', mono: true, cell: ({ id, version }) => `${id}@${version}` },
  { name: 'Licence', cell: ({ licence }) => licence },
  { name: 'Commercial use', cell: ({ commercialUse }) => commercialUse },
  { name: 'Size', align: 'right', cell: ({ bytes }) => bytesOf(bytes) },
  {
    name: 'SHA-256',
    mono: true,
    cell: ({ sha256 }) => <span title={sha256}>{sha256.slice(0, 16)}…</span>,
  },
  { name: 'Comes from', cell: ({ builtIn }) => (builtIn ? 'the packages' : 'a pack') },
]

function CalibrationView({ calibration }: { readonly calibration: Calibration }) {
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {calibration.modelId}, measured on {calibration.set}, {calibration.measuredOn}. At a
        threshold, this share of comparisons of two different people passes.
      </Text>
      <CurveChart points={calibration.points} />
      <DataTable
        caption="False-match rate by threshold"
        rows={calibration.points}
        keyOf={({ fmr, score }) => `${fmr} ${score}`}
        columns={pointColumns}
        empty={null}
      />
    </>
  )
}

const pointColumns: readonly Column<Point>[] = [
  { name: 'False-match rate', align: 'right', cell: ({ fmr }) => fmr.toExponential(0) },
  { name: 'One in', align: 'right', cell: ({ fmr }) => countOf(Math.round(1 / fmr)) },
  { name: 'Similarity', align: 'right', cell: ({ similarity }) => similarity.toFixed(3) },
  { name: 'Raw score', align: 'right', cell: ({ score }) => score.toFixed(4) },
  { name: 'Figure is', cell: ({ source }) => source },
]

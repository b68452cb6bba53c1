"""The public import path of `pinakes.pipelines`: files of pipelines import `pinakes.pipeline.expect`."""

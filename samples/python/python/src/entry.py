"""The Worker: passes each call to a function of tools.py."""

from tools import answer
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    """Is called through a service binding only."""

    async def fetch(self, request):
        return Response(answer(await request.text()), headers={"content-type": "application/json"})

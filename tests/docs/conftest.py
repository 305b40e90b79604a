import pytest
from pages import VERSIONS


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param
